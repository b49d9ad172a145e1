slices=$(plat get cakes.bakery.example.com apple -n lesson-10 -o 'jsonpath={.spec.slices}' 2>/dev/null)
[ "$slices" = 8 ] || say "the cake apple has ${slices:-no} slices"
printf 'apiVersion: bakery.example.com/v1\nkind: Cake\nmetadata: { name: none, namespace: lesson-10 }\nspec: { slices: 0 }\n' >"$work/none.yaml"
plat create --dry-run=server -f "$work/none.yaml" >/dev/null 2>&1 && say "a cake of no slices is accepted"
