plat create namespace lesson-05
plat create deployment web --image=shop/web --replicas=2 --port=8080 -n lesson-05
plat rollout status deployment/web -n lesson-05
