found=$(plat get configmaps -n lesson-02 -l team=shop -o 'jsonpath={.items[*].metadata.name}')
[ "$found" = 'shop-prices shop-texts' ] || say "the label is on: ${found:-nothing}"
