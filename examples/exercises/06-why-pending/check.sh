phase=$(plat get pod big -n lesson-06 -o 'jsonpath={.status.phase}' 2>/dev/null)
[ "$phase" = Running ] || say "the pod big is ${phase:-not there}"
cpu=$(plat get pod big -n lesson-06 -o 'jsonpath={.spec.containers[0].resources.requests.cpu}')
[ "$cpu" = 500m ] || say "it asks for ${cpu:-nothing}, not for half a core"
