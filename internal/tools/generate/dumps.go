package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/diagnose"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Where dumps of pods and workloads are, for the tests of diagnose. An expected.yaml in each directory has their names
// and says how they are read.
const (
	casesDir      = "internal/commands/diagnose/testdata/cases"
	recordingsDir = "internal/watch/testdata/recordings"
)

// casesNow is when a case is looked at that does not say when.
const casesNow = "2026-11-21T11:00:00Z"

// dump is one of them, and how it is read.
type dump struct {
	File    string `json:"file"`
	Subject string `json:"subject"`
	Now     string `json:"now"`
}

// dumps are all of them by DIR/NAME; a recording is recordings/NAME.
func dumps() (map[string]dump, error) {
	lists, err := filepath.Glob(casesDir + "/*/expected.yaml")
	if err != nil {
		return nil, err
	}
	all := map[string]dump{}
	for _, list := range append(lists, recordingsDir+"/expected.yaml") {
		text, err := os.ReadFile(list)
		if err != nil {
			return nil, err
		}
		var listed map[string]dump
		if err := yaml.Unmarshal(text, &listed); err != nil {
			return nil, fmt.Errorf("%s: %w", list, err)
		}
		dir := filepath.Dir(list)
		for name, d := range listed {
			all[filepath.Base(dir)+"/"+name] = d.in(dir, name)
		}
	}
	return all, nil
}

// in says what is left out of a list: the file, and for a case, the time.
func (d dump) in(dir, name string) dump {
	recorded := filepath.ToSlash(dir) == recordingsDir
	switch {
	case recorded:
		d.File = name + ".jsonl"
	case d.File == "":
		d.File = name + ".yaml"
	}
	if d.Now == "" && !recorded {
		d.Now = casesNow
	}
	d.File = filepath.Join(dir, d.File)
	return d
}

// read is what `berth diagnose -f` says of a dump under a policy. There is nothing to say of some of them.
func (d dump) read(policy cause.Policy) (diagnosis v1.Diagnosis, err error) {
	streams, printed := terminal.Test("", time.Time{})
	o := diagnose.Options{
		IO: streams, FromFile: true, File: d.File, Subject: d.Subject,
		Config: func() (config.Config, error) { return config.Config{Policy: policy}, nil },
	}
	if o.Output, err = printer.ParseFormat("json"); err != nil {
		return diagnosis, err
	}
	if d.Now != "" {
		if o.Now, err = time.Parse(time.RFC3339Nano, d.Now); err != nil {
			return diagnosis, err
		}
	}
	if err := diagnose.Run(context.Background(), &o); err != nil {
		return diagnosis, err
	}
	err = json.Unmarshal(printed.Out.Bytes(), &diagnosis)
	return diagnosis, err
}
