image=$(plat get deployment web -n lesson-04 -o 'jsonpath={.spec.template.spec.containers[0].image}')
[ "$image" = shop/web:good ] || say "the image is still $image"
