plat create namespace lesson-09
