plat create deployment web --image=shop/web:1 --replicas=3 -n lesson-03
plat rollout status deployment/web -n lesson-03
plat set image deployment/web web=shop/web:2 -n lesson-03
plat rollout status deployment/web -n lesson-03
