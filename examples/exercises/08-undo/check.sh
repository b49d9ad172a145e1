price=$(plat get configmap prices -n lesson-08 -o 'jsonpath={.data.bread}' 2>/dev/null)
[ "$price" = 3 ] || say "the bread costs ${price:-nothing}: the config map is not as it was"
