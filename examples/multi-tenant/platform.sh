#!/bin/sh
# A platform for many teams: two servers on one etcd, and a namespace with rights, bounds and defaults for each team.
#
#   ./platform.sh up                start two servers on the etcd at ETCD (default http://127.0.0.1:2379)
#   ./platform.sh team NAME         make a team: its namespace, its account, and the file NAME.conf for it
#   ./platform.sh remove NAME       remove a team and all it has
#   ./platform.sh down              stop the servers; what is in etcd stays
set -eu
cd "$(dirname "$0")"
etcd=${ETCD:-http://127.0.0.1:2379}
data=${DATA:-$PWD/data}
first=${FIRST_PORT:-6443}
second=${SECOND_PORT:-6444}

serve() {
  plat server --identity kubernetes --store etcd --etcd-servers "$etcd" --data-dir "$data" --secure-port "$1" >"$data/$1.log" 2>&1 &
  echo $! >"$data/$1.pid"
  tries=0
  until plat --kubeconfig "$data/admin.conf" --server "https://127.0.0.1:$1" get --raw /readyz >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { cat "$data/$1.log" >&2; exit 1; }
    sleep 0.2
  done
  echo "https://127.0.0.1:$1 is ready"
}

case "${1:-} ${2:-}" in
  'up ')
    mkdir -p "$data" && chmod 700 "$data"
    # One after the other: the first makes the keys that both use.
    serve "$first"
    serve "$second"
    ;;
  'team '?*)
    export KUBECONFIG="$data/admin.conf"
    sed "s/TEAM/$2/g" team.yaml | plat apply -f -
    token=$(plat create token member -n "$2" --duration 24h)
    (
      umask 077
      cp "$data/admin.conf" "$2.conf"
    )
    plat --kubeconfig "$2.conf" config set-credentials member --token="$token" >/dev/null
    plat --kubeconfig "$2.conf" config set-context team --cluster="$(plat config view -o 'jsonpath={.clusters[0].name}')" --user=member --namespace="$2" >/dev/null
    plat --kubeconfig "$2.conf" config use-context team >/dev/null
    # The team's file holds nothing of the administrator.
    plat --kubeconfig "$2.conf" config view --minify --flatten --raw >"$2.conf.new"
    chmod 600 "$2.conf.new" && mv "$2.conf.new" "$2.conf"
    echo "$2.conf is the configuration of the team $2"
    ;;
  'remove '?*)
    plat --kubeconfig "$data/admin.conf" delete namespace "$2"
    rm -f "$2.conf"
    ;;
  'down ')
    for file in "$data"/*.pid; do
      kill "$(cat "$file")" && rm "$file"
    done
    ;;
  *)
    sed -n '4,7s/^# *//p' platform.sh
    exit 2
    ;;
esac
