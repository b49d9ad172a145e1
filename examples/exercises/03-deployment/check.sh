plat get deployment web -n lesson-03 >/dev/null 2>&1 || say "there is no deployment web"
image=$(plat get deployment web -n lesson-03 -o 'jsonpath={.spec.template.spec.containers[0].image}')
[ "$image" = shop/web:2 ] || say "its image is $image"
ready=$(plat get deployment web -n lesson-03 -o 'jsonpath={.status.updatedReplicas}/{.status.readyReplicas}')
[ "$ready" = 3/3 ] || say "updated and ready: $ready, not 3/3"
revision=$(plat get deployment web -n lesson-03 -o 'jsonpath={.metadata.annotations.deployment\.kubernetes\.io/revision}')
[ "$revision" -ge 2 ] || say "the image was never changed: make it with shop/web:1 first"
