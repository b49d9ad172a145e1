plat create namespace lesson-03
