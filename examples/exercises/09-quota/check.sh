hard=$(plat get quota bounds -n lesson-09 -o 'jsonpath={.spec.hard.configmaps}{.spec.hard.count/configmaps}' 2>/dev/null)
[ "$hard" = 2 ] || say "the quota bounds allows ${hard:-anything}"
plat wait --for='jsonpath={.status.hard}' quota/bounds -n lesson-09 --timeout=10s >/dev/null 2>&1
for name in a b c; do plat create configmap "$name" -n lesson-09 >/dev/null 2>&1; done
plat get configmap c -n lesson-09 >/dev/null 2>&1 && say "one too many was accepted"
plat delete configmap a b c -n lesson-09 --ignore-not-found >/dev/null 2>&1
