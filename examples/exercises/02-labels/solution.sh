plat label configmap shop-prices shop-texts team=shop -n lesson-02
