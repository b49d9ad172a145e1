plat patch configmap stuck -n lesson-11 --type=merge -p '{"metadata":{"finalizers":null}}'
