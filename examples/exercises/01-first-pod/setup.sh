plat create namespace lesson-01
