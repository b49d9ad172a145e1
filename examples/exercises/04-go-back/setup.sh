plat create namespace lesson-04
plat create deployment web --image=shop/web:good -n lesson-04
plat rollout status deployment/web -n lesson-04
plat set image deployment/web web=shop/web:bad -n lesson-04
