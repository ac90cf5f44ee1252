//go:build e2e

package e2e

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/rbac"
)

// The Role of a command that reads is enough for it, all of it is used, and what
// is missing is named.
func TestRolesOfReading(t *testing.T) {
	w := newWorld(t)
	words := w.prepareReading()
	for _, d := range reading() {
		t.Run(d.command.Name, func(t *testing.T) {
			parallel(t)
			w := w.of(t)
			users, sample := w.suffices(d, words), newSample(t)
			for _, a := range d.command.All() {
				u, used := users[a]
				if !used || !sample.has() {
					continue // suffices has reported what is not used
				}
				t.Run("without "+a.String(), func(t *testing.T) {
					parallel(t)
					w.of(t).lacks(d, u, a, words)
				})
			}
		})
	}
}

// The same of a command that writes. Each use has a namespace of its own.
func TestRolesOfWriting(t *testing.T) {
	t.Parallel()
	for _, d := range writing() {
		t.Run(d.command.Name, func(t *testing.T) {
			parallel(t)
			all := make([]*asked, len(d.uses))
			t.Run("with its Role", func(t *testing.T) {
				for i, u := range d.uses {
					t.Run(strings.Join(u.args, " "), func(t *testing.T) {
						w := newWorld(t)
						if u.before != nil {
							u.before(w)
						}
						all[i] = w.as(w.role(d.command)).asks(d, u, w.words())
					})
				}
			})
			if !t.Failed() {
				(&world{T: t}).used(d, all)
			}
			t.Run("with less", func(t *testing.T) { less(t, d) })
		})
	}
}

// less runs a command that writes without each of its permissions. By default
// it is without the first verb of each rule; BERTH_TEST_TORTURE=full is without
// each verb.
func less(t *testing.T, d duty) {
	w := newWorld(t)
	if d.prepare != nil {
		d.prepare(w)
	}
	t.Run("without anything", func(t *testing.T) {
		parallel(t)
		w.of(t).lacksAll(d)
	})
	sample := newSample(t)
	for _, r := range d.command.Rules {
		for i, verb := range r.Verbs {
			a := rbac.Access{Verb: verb, Group: r.Group, Resource: r.Resource}
			lesser, optional := d.without[a.String()]
			switch {
			case optional && !sample.has():
			case optional:
				t.Run("without "+a.String(), func(t *testing.T) {
					w := newWorld(t)
					if lesser.before != nil {
						lesser.before(w)
					}
					w.lacks(d, lesser, a, w.words())
				})
			case d.elsewhere[a.String()] != "":
			case r.Optional():
				t.Errorf("nothing shows what it is like without %s", a)
			case (i == 0 || tortured()) && sample.has():
				t.Run("without "+a.String(), func(t *testing.T) {
					parallel(t)
					w.of(t).lacks(d, d.gate(a), a, w.words())
				})
			}
		}
	}
}

func (w *world) words() *strings.Replacer { return strings.NewReplacer("NAMESPACE", w.namespace) }

// grants are rules of a command where they belong, and what else it takes.
func (w *world) grants(d duty, rules []rbacv1.PolicyRule) []grant {
	g := grant{w.namespace, rules}
	if d.command.Cluster {
		g.namespace = metav1.NamespaceAll
	}
	return append([]grant{g}, d.beside(w)...)
}

// of is the same world for a test of its own.
func (w *world) of(t *testing.T) *world {
	other := *w
	other.T = t
	return &other
}

// suffices runs all uses with exactly the Role, and gives of each permission a
// use that takes it.
func (w *world) suffices(d duty, words *strings.Replacer) map[rbac.Access]use {
	w.Helper()
	limited, all := w.as(w.grants(d, d.command.PolicyRules())...), make([]*asked, len(d.uses))
	for i, u := range d.uses {
		all[i] = limited.asks(d, u, words)
	}
	return w.used(d, all)
}

// asks runs a use, which asks for nothing that is not in the Role.
func (w *world) asks(d duty, u use, words *strings.Replacer) *asked {
	w.Helper()
	to := &asked{}
	w.run(u, to, words).mustBe(w, u.status)
	ofNodes := rbac.Named(rbac.AwaitedNodes).All() // asked for when a busy node is silent
	for _, a := range to.list() {
		if slices.Contains(ofNodes, a) {
			continue
		}
		if !slices.Contains(d.command.All(), a) && !slices.Contains(u.optional, a.String()) && !d.isBeside(a) {
			w.Errorf("berth %s asks for %q, which its Role does not have", strings.Join(u.args, " "), a)
		}
	}
	return to
}

// used fails the test unless the uses together ask for all of the Role.
func (w *world) used(d duty, all []*asked) map[rbac.Access]use {
	w.Helper()
	users := map[rbac.Access]use{}
	for i, one := range all {
		for _, a := range one.list() {
			if _, known := users[a]; !known {
				users[a] = d.uses[i]
			}
		}
	}
	for _, a := range d.command.All() {
		if _, used := users[a]; !used && d.elsewhere[a.String()] == "" {
			w.Errorf("%q is in the Role and nothing asks for it", a)
		}
	}
	return users
}

// lacks runs a use without a permission that it needs: the error names it.
func (w *world) lacks(d duty, u use, a rbac.Access, words *strings.Replacer) {
	w.Helper()
	limited := w.as(w.grants(d, without(d.command, a))...)
	before := w.leftovers()
	if lesser, optional := d.without[a.String()]; optional {
		r := limited.run(lesser, nil, words)
		r.mustBe(w, lesser.status)
		w.contains(r.stdout+r.stderr, words.Replace(lesser.says))
		return
	}
	u.until = "" // it ends by itself
	r := limited.run(u, nil, words)
	if !w.isNeeded(a) {
		r.mustBe(w, u.status)
		return
	}
	status := 4
	if u.args[0] == "exec" {
		status = 125
	}
	r.mustBe(w, status)
	said := r.stdout + r.stderr // a document has it on stdout
	w.contains(said, "PERMISSION_DENIED")
	w.names(said, a)
	if after := w.leftovers(); !slices.Equal(before, after) {
		w.Errorf("%s became %s", before, after)
	}
}

// lacksAll runs a command that may find out what exists and nothing else: all
// missing permissions are reported at once.
func (w *world) lacksAll(d duty) {
	w.Helper()
	find := rbac.Named("status").PolicyRules()
	before, words := w.leftovers(), w.words()
	r := w.as(grant{w.namespace, find}).run(d.gate(rbac.Access{}), nil, words)
	r.mustBe(w, 4)
	for _, rule := range d.command.Rules {
		for _, verb := range rule.Verbs {
			a := rbac.Access{Verb: verb, Group: rule.Group, Resource: rule.Resource}
			if rule.Made || rule.Optional() || gives(find, a) {
				continue
			}
			w.contains(r.stderr, "- "+a.String()+" in namespace "+w.namespace)
		}
	}
	w.contains(r.stderr, d.command.ObjectName(), "berth doctor")
	if after := w.leftovers(); !slices.Equal(before, after) {
		w.Errorf("%s became %s", before, after)
	}
}

func gives(rules []rbacv1.PolicyRule, a rbac.Access) bool {
	return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		return r.APIGroups[0] == a.Group && r.Resources[0] == a.Resource && slices.Contains(r.Verbs, a.Verb)
	})
}

// names fails the test unless a text names a permission and the namespace.
func (w *world) names(text string, a rbac.Access) {
	w.Helper()
	named := regexp.QuoteMeta(a.String()) + `( \S+)?(: .* at the cluster scope| in namespace ` +
		regexp.QuoteMeta(w.namespace) + `\b)`
	if !regexp.MustCompile(named).MatchString(text) {
		w.Errorf("%s in namespace %s is not named in:\n%s", a, w.namespace, text)
	}
}

// run is one use, to its end or until it has said or asked enough. What it asks
// for is written down, if that is wanted.
func (w *world) run(u use, to *asked, words *strings.Replacer) result {
	w.Helper()
	args := make([]string, len(u.args))
	for i, arg := range u.args {
		args[i] = words.Replace(arg)
	}
	cmd := w.command(args...)
	if u.config != "" {
		cmd.Env = append(cmd.Env, "BERTH_CONFIG="+w.write(w.TempDir(), "config.yaml", words.Replace(u.config)))
	}
	if to != nil || u.api != "" {
		if to == nil {
			to = &asked{}
		}
		cmd.Env = append(cmd.Env, "KUBECONFIG="+w.record(to, u.api))
	}
	p := w.launch(cmd)
	if u.until != "" {
		w.eventually("berth "+strings.Join(args, " ")+" has printed or asked for "+u.until, func() bool {
			return strings.Contains(p.stdout.String(), words.Replace(u.until)) || to != nil && to.has(u.until) ||
				len(p.ended) > 0
		})
		_ = p.cmd.Process.Signal(os.Interrupt) // it may have ended
	}
	return p.wait()
}

// oneOfEach makes a workload of each kind, whose pods are its own, and waits until
// each is up.
func (w *world) oneOfEach() (targets []*target) {
	w.Helper()
	for _, kind := range []string{"deployment", "statefulset", "daemonset"} {
		targets = append(targets, w.workloadThatIsNot(kind, 1, func(spec, _ map[string]any) {
			labels := map[string]any{"app": "web", "kind": kind}
			spec["selector"] = map[string]any{"matchLabels": labels}
			_ = unstructured.SetNestedMap(spec, labels, "template", "metadata",
				"labels") // fails only where there is no template
		}))
	}
	for _, tg := range targets {
		counter := "readyReplicas"
		if tg.kind == "daemonset" {
			counter = "numberReady"
		}
		w.eventually(tg.kind+"/web is up", func() bool {
			ready, _, _ := unstructured.NestedInt64(tg.get().Object, "status", counter)
			return ready == 1
		})
	}
	return targets
}

// prepareReading makes what the commands that read are about, and says what the
// placeholders in their arguments are.
func (w *world) prepareReading() *strings.Replacer {
	w.Helper()
	waiting := w.start("provision", "alice~huge", "--timeout", "1h")
	crashing, data, gone := w.start("provision", "alice~crashing"), w.start("provision", "alice~data"),
		w.start("provision", "gone~plain")
	stopped := w.start("provision", "stopped~plain")
	targets := w.oneOfEach()
	var injections []*process
	for _, tg := range targets {
		injections = append(injections, w.start("provision", tg.user("plain")))
	}
	once := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "once"},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "once", Image: "docker.io/library/busybox:stable",
				Command: []string{"true"},
			}},
		}}},
	}
	if _, err := w.BatchV1().Jobs(w.namespace).Create(w.Context(), once, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	crashing.wait().mustBe(w, 3)
	for _, p := range append(injections, data, gone, stopped) {
		p.wait().mustBe(w, 0)
	}
	if err := w.CoreV1().Pods(w.namespace).Delete(w.Context(), w.idOf("gone~plain"),
		metav1.DeleteOptions{}); err != nil {
		w.Fatal(err)
	}
	w.eventually("the pod is gone", func() bool { return w.pod(w.idOf("gone~plain")) == nil })
	w.must(0, "stop", "stopped~plain")
	waiting.waitFor("FailedScheduling")
	sets, err := w.AppsV1().ReplicaSets(w.namespace).List(w.Context(), metav1.ListOptions{})
	if err != nil || len(sets.Items) == 0 {
		w.Fatalf("%v, %d ReplicaSets", err, len(sets.Items))
	}
	jobs := decode[v1.JobList](w, w.must(0, "jobs", "--workspace", "alice~huge", "-o", "json"))
	return strings.NewReplacer("NAMESPACE", w.namespace, "REPLICASET", sets.Items[0].Name, "JOB", jobs.Items[0].ID)
}
