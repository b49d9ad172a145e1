plat undo configmap/prices -n lesson-08 --yes
