package diagnose

import (
	"strings"

	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
)

// dump diagnoses what a file or standard input says, without a cluster.
func (o *Options) dump() (d result.Diagnosis, err error) {
	wanted, err := o.subject()
	if err != nil {
		return d, err
	}
	c, err := o.Config()
	if err != nil {
		return d, err
	}
	dump, err := o.readDump()
	if err != nil {
		return d, err
	}
	dump, at, err := dump.Until(o.Now, o.IO.Now())
	if err != nil {
		return d, err
	}
	subject, err := dump.Choose(wanted)
	if err != nil {
		return d, err
	}
	c.Policy.CauseDelay = 0 // a dump says no more: what it waits for is as good as final
	if !dump.Recorded {
		c.Policy.PullDelay = 0 // how long it has been so is not known
	}
	d.Diagnosis = dump.Diagnose(subject, c.Policy, at)
	d.AsOfNewest = !dump.Recorded && o.Now.IsZero() && !at.Equal(o.IO.Now())
	return d, nil
}

// subject reads --subject, which may be a user string, too.
func (o *Options) subject() (subject watch.Subject, err error) {
	if strings.ContainsAny(o.Subject, "@~+=") {
		u, err := userstring.Parse(o.Subject)
		return watch.Subject{Kind: watch.KindPod, Namespace: o.Namespace, Name: u.ID()}, err
	}
	subject, err = diagnose.ParseSubject(strings.TrimPrefix(o.Subject, "id/"))
	subject.Namespace = o.Namespace
	return subject, err
}

func (o *Options) readDump() (diagnose.Dump, error) {
	if o.File == "-" {
		return diagnose.Read(o.IO.In, "standard input")
	}
	return diagnose.Open(o.File)
}
