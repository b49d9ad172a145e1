plat create namespace lesson-08
plat create configmap prices -n lesson-08 --from-literal=bread=3
plat delete configmap prices -n lesson-08
