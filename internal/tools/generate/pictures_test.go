package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The words of a picture, and that it is well-formed.
func wordsOf(t *testing.T, svg []byte) string {
	t.Helper()
	var b strings.Builder
	decoder := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return strings.Join(strings.Fields(b.String()), " ")
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			b.Write(text)
		}
	}
}

// The pictures show the moments that they are named after, and nothing of the machine that they were recorded on.
func TestPictures(t *testing.T) {
	all := files{}
	if err := pictures(all); err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"pulling": {"Pulling", "slow:v1", "⠹"},
		"running": {"✔", "Running", "init script", "Running in", "berth exec alice~dev"},
		"failed":  {"✘", "Failed", "not found", "(demo/blueprints/demo.yaml:17)", "berth diagnose alice~typo"},
		"stuck": {
			"Scheduling", "this will not resolve by itself", "Storage class fast does not exist",
			"(demo/blueprints/demo.yaml:",
		},
		"batch": {
			"7 workspaces in team", "⠹ carol~ml Pulling", "✔ alice~web Running", "✘ bob~docs Failed",
			"grace~web Running already running", "active",
		},
		"status": {
			"NAME OWNER BLUEPRINT STAGE", "WHY", "CrashLoop: crash loop", "StorageClassMissing: volume claim",
			"ImageNotFound: image",
		},
		"history": {"Succeeded", "Pulling", "━━", "k8shell-main", "greet", "▲ FailedScheduling"},
		"sshconfig": {
			"$ berth ssh config --dry-run", "--- /dev/null", "+Host *.berth",
			"berth ssh proxy --context=prod %n", `+Include "~/.config/berth/ssh/config"`,
		},
		"ssherror": {
			"$ ssh alice-2bd806c.berth berth: workspace alice-2bd806c is stopped",
			"hint: start it: berth start alice-2bd806c --context prod",
		},
		"stats": {"BLUEPRINT", "MEDIAN P90 MAX", "━━", "until Running", "CrashLoop (", "ImageNotFound ("},
	} {
		text := wordsOf(t, all["docs/pictures/"+name+".svg"])
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, text)
			}
		}
	}
	paths, err := filepath.Glob("recordings/*.json*")
	if err != nil || len(paths) != 6 {
		t.Fatal(paths, err)
	}
	foreign := regexp.MustCompile(`[" (]/(home|root|tmp|work|usr|etc)/`)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if found := foreign.Find(raw); found != nil {
			t.Errorf("%s has a path of a machine in it: %s", path, found)
		}
	}
}

// All pictures are shown, and no other, in the README or on one of the pages that it leads to.
func TestPicturesAreShown(t *testing.T) {
	atTop(t)
	shown := 0
	var pages strings.Builder
	for page, dir := range map[string]string{
		"README.md": "docs/pictures/", "docs/tour.md": "pictures/",
		"docs/ssh.md": "pictures/",
	} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		shown += strings.Count(string(text), "]("+dir)
		pages.Write(text)
	}
	var names []string
	for _, s := range stills() {
		names = append(names, s.name)
	}
	for _, p := range printouts() {
		names = append(names, p.name)
	}
	for _, s := range sessions() {
		names = append(names, s.name)
	}
	for _, name := range names {
		if !strings.Contains(pages.String(), "pictures/"+name+".svg)") {
			t.Errorf("no page shows the picture %s", name)
		}
	}
	if shown != len(names) {
		t.Errorf("%d pictures are shown, there are %d", shown, len(names))
	}
}

func TestDrawLine(t *testing.T) {
	svg, err := picture("a & b", []string{"  \x1b[32m✔\x1b[0m x  <y>", "\x1b[1;0m"}, 20)
	if err == nil {
		t.Errorf("an unknown sequence is drawn: %s", svg)
	}
	svg, err = picture("a & b", []string{"  \x1b[32m✔\x1b[m x  <y>\x1b[1mz\x1b[0m"}, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<title>a &amp; b</title>",
		`<text x="32.8" y="47" textLength="8.4" fill="#56d364">✔</text>`,
		`<text x="49.6" y="47" textLength="8.4">x</text>`,
		`<text x="74.8" y="47" textLength="25.2">&lt;y&gt;</text>`,
		`<text x="100.0" y="47" textLength="8.4" font-weight="bold">z</text>`,
	} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("%s is not in\n%s", want, svg)
		}
	}
	for _, bad := range []string{"\x1b[2A", "\x1b]0;title\x07", "\x1b[35mx"} {
		if _, err := picture("", []string{bad}, 20); err == nil {
			t.Errorf("%q is drawn", bad)
		}
	}
}
