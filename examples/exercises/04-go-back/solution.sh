plat rollout undo deployment/web -n lesson-04
