plat create namespace lesson-10
