can() { plat auth can-i "$@" -n lesson-07 --as system:serviceaccount:lesson-07:reader 2>/dev/null; }
for verb in get list watch; do [ "$(can $verb configmaps)" = yes ] || say "it may not $verb config maps"; done
for what in 'delete configmaps' 'get secrets' 'list pods'; do [ "$(can $what)" = no ] || say "it may also $what"; done
