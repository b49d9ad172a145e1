port=$(plat get service web -n lesson-05 -o 'jsonpath={.spec.ports[0].port}' 2>/dev/null)
[ "$port" = 80 ] || say "the port of the service web is ${port:-not there}"
plat wait --for='jsonpath={.subsets[0].addresses[1].ip}' endpoints/web -n lesson-05 --timeout=10s >/dev/null 2>&1
addresses=$(plat get endpoints web -n lesson-05 -o 'jsonpath={.subsets[*].addresses[*].ip}' | wc -w)
[ "$addresses" -eq 2 ] || say "it leads to $addresses pods, not to two"
