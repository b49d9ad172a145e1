plat expose deployment web --port=80 --target-port=8080 -n lesson-05
