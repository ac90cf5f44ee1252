#!/usr/bin/env bash
# A workspace from nothing: brought up, entered, looked at, removed. Unattended.
# CLUSTER=current uses the cluster of the current kubeconfig, after asking.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

# typed shows a command as one would type it, and runs it.
typed() {
	printf '\n\033[1m$ %s\033[0m\n' "$*"
	"$@"
}

cluster() { (cd test/cluster && go run . "$@"); }

if [ "${CLUSTER:-}" = current ]; then
	server=$(kubectl config view --minify --output 'jsonpath={.clusters[0].cluster.server}' 2>/dev/null || true)
	printf 'The demo will make a workspace in the current context (%s) and remove it again.\nGo on? [y/N] ' "${server:-unknown}"
	read -r answer
	case $answer in y | Y | yes) ;; *) echo "nothing was done"; exit 1 ;; esac
	blueprint=alice
else
	say "A real Kubernetes cluster on this machine"
	if cluster status >/dev/null 2>&1; then
		started=
	else
		started=yes
	fi
	cluster up >/dev/null
	KUBECONFIG=$(cluster kubeconfig)
	export KUBECONFIG
	if [ -n "$started" ]; then
		trap 'say "Removing the cluster"; cluster down' EXIT
	fi
	export BERTH_BLUEPRINTS=demo/blueprints
	blueprint=alice~dev
fi
PATH=$PWD/bin:$PATH

# What an earlier demo that was cut off may have left.
berth delete "$blueprint" --ignore-not-found --yes >/dev/null 2>&1

say "A workspace for alice"
typed berth provision "$blueprint"
typed berth status
# shellcheck disable=SC2016 # the workspace's shell expands it
typed berth exec "$blueprint" -- sh -c 'echo "hello from $(hostname), I am $(id -un), at home in $HOME"'

if [ "$blueprint" = alice~dev ]; then
	say "What is in ~ outlives the pod, as the home has a storage"
	typed berth exec "$blueprint" -- sh -c 'echo "still here" > ~/note'
	cluster kubectl delete pod "$(berth status "$blueprint" --output name)"
	typed berth provision "$blueprint"
	typed berth exec "$blueprint" -- cat note
fi
typed berth delete "$blueprint" --yes

if [ "$blueprint" = alice~dev ]; then
	say "And one that cannot come up: its image does not exist"
	status=0
	typed berth provision alice~typo || status=$?
	echo "(exit status $status)"
	[ "$status" = 3 ]
	typed berth delete alice~typo --yes

	say "One that waits for what only somebody can change is given up, if that is wanted"
	status=0
	typed berth provision alice~fast --stuck-after 5s || status=$?
	echo "(exit status $status)"
	[ "$status" = 3 ]
	typed berth delete alice~fast --yes

	say "Where the time went: of one, and of all"
	typed berth status alice~dev --history
	typed berth jobs stats --by blueprint

	say "A bundle of manifests, installed as a whole, and removed again"
	typed berth bundle install hello demo/bundle
	typed berth bundle status hello
	typed berth bundle uninstall hello
fi
say "That was it."
