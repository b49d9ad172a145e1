phase=$(plat get pod hello -n lesson-01 -o 'jsonpath={.status.phase}' 2>/dev/null)
[ "$phase" = Running ] || say "the pod hello is ${phase:-not there}, not Running"
image=$(plat get pod hello -n lesson-01 -o 'jsonpath={.spec.containers[0].image}')
[ "$image" = shop/hello ] || say "its image is $image, not shop/hello"
