# Runs the executable ($1) where there is no Node: every `node` of the PATH and of /usr is hidden in a mount namespace of this process.
# Prints one line for each step. $2: an empty directory to work in; $3: the name of a server.
set -eu
work=$2
server=$3
step() { echo "ok $1"; }

mkdir -p "$work/bin" "$work/home" "$work/called"
cp "$1" "$work/bin/plat"
for name in kubectl kube-apiserver etcd; do ln -s "$work/bin/plat" "$work/called/$name"; done

for file in $(find /usr /opt $(echo "$PATH" | tr : ' ') -xdev \( -name node -o -name nodejs \) ! -type d -perm /111 2>/dev/null); do
  mount --bind /dev/null "$(readlink -f "$file")"
done
export HOME=$work/home PATH=$work/bin:/usr/local/bin:/usr/bin:/bin
unset XDG_CACHE_HOME XDG_STATE_HOME NODE_OPTIONS NODE_COMPILE_CACHE KUBECONFIG PLATCONFIG
if command -v node >/dev/null || (node --version) 2>/dev/null; then
  echo "node is still there"
  exit 1
fi
step hidden

plat version --client | grep -q 'executable with Node'
step version
"$work/called/kubectl" version --client | grep -q 'Client Version: version.Info'
"$work/called/kube-apiserver" --version | grep -q '^Kubernetes v1'
step names
plat completion bash | grep -q 'complete .*plat'
step completion

KUBECONFIG=$(plat up "$server" --identity kubernetes --wait -o kubeconfig -- --workloads)
export KUBECONFIG
trap 'plat down "$server" >/dev/null' EXIT
[ "$(stat -c %a "$HOME/.cache/plat/native")" = 700 ]
step start
cat >"$work/web.yaml" <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: nginx }] }
END
plat apply -f "$work/web.yaml" >/dev/null
step apply
plat wait deployment/web --for=condition=Available --timeout=60s >/dev/null
[ "$(plat get deployment web -o 'jsonpath={.status.readyReplicas}')" = 2 ]
step workloads
plat get configmaps --watch -o name >"$work/watched" &
watcher=$!
plat create configmap seen >/dev/null
until grep -q configmap/seen "$work/watched"; do sleep 0.1; done
kill "$watcher"
step watch
address=$(plat config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
curl -skf -H 'Accept: text/html' "$address/console/" | grep -q '<title>'
step console
plat store backup --to "$work/backup" >/dev/null
[ -s "$work/backup" ]
step backup
plat down "$server" >/dev/null
trap - EXIT
step stopped
assets=$(plat envtest)
for program in kube-apiserver etcd kubectl; do "$assets/$program" --help >/dev/null; done
grep -q "$work/bin/plat" "$assets/etcd"
step envtest
