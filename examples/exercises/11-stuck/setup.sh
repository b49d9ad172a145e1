plat create namespace lesson-11
plat create configmap stuck -n lesson-11
plat patch configmap stuck -n lesson-11 --type=merge -p '{"metadata":{"finalizers":["example.com/lesson"]}}'
plat delete configmap stuck -n lesson-11 --wait=false
