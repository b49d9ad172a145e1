plat create namespace lesson-02
for name in shop-prices shop-texts other; do plat create configmap "$name" -n lesson-02 --from-literal=a=b; done
