package printer

import (
	v1 "github.com/berthdev/berth/api/v1"
)

// Document is the one document that a result is printed as.
func Document(r v1.Result) any {
	switch {
	case r.Error != nil:
		return r.Error
	case r.Deletion != nil:
		return r.Deletion
	case r.Workspace != nil:
		return r.Workspace
	case r.Summary != nil:
		return r.Summary
	case r.Deletions != nil:
		return r.Deletions
	}
	return &v1.Error{Code: "INTERNAL", ExitStatus: 1, Message: "the command ended without a result"}
}

// normal keeps the promise that every document says what it is and that a list
// is a list, whoever made it. It does not touch the caller's document.
func normal(doc any) any {
	switch d := doc.(type) {
	case *v1.Workspace:
		c := *d
		c.TypeMeta = v1.Kind(v1.KindWorkspace)
		return &c
	case *v1.WorkspaceList:
		c := v1.WorkspaceList{TypeMeta: v1.Kind(v1.KindWorkspaceList), Items: make([]v1.Workspace, 0, len(d.Items))}
		for _, w := range d.Items {
			w.TypeMeta = v1.Kind(v1.KindWorkspace)
			c.Items = append(c.Items, w)
		}
		return &c
	case *v1.Deletion:
		c := *d
		c.TypeMeta = v1.Kind(v1.KindDeletion)
		return &c
	case *v1.Diagnosis:
		return normalDiagnosis(*d)
	case *v1.Job:
		c := *d
		c.TypeMeta = v1.Kind(v1.KindJob)
		return &c
	case *v1.JobList:
		return normalJobs(*d)
	case *v1.ProvisionSummary:
		return normalSummary(*d)
	case *v1.DeletionSummary:
		c := *d
		c.TypeMeta = v1.Kind(v1.KindDeletionSummary)
		c.Items = append([]v1.DeletionItem{}, d.Items...)
		return &c
	case *v1.Version:
		c := *d
		c.TypeMeta = v1.Kind(v1.KindVersion)
		return &c
	case *v1.Error:
		c := *d
		c.TypeMeta = v1.Kind(v1.KindError)
		return &c
	}
	return doc
}

// normalDiagnosis has lists where nothing is in them, too.
func normalDiagnosis(d v1.Diagnosis) *v1.Diagnosis {
	d.TypeMeta = v1.Kind(v1.KindDiagnosis)
	d.Warnings = append([]v1.Warning{}, d.Warnings...)
	d.Timeline = append([]v1.Moment{}, d.Timeline...)
	return &d
}

func normalSummary(d v1.ProvisionSummary) *v1.ProvisionSummary {
	d.TypeMeta = v1.Kind(v1.KindProvisionSummary)
	d.Items = append([]v1.ProvisionItem{}, d.Items...)
	return &d
}

// normalJobs is a list where nothing is in it, too.
func normalJobs(d v1.JobList) *v1.JobList {
	list := v1.JobList{TypeMeta: v1.Kind(v1.KindJobList), Items: make([]v1.Job, 0, len(d.Items))}
	for _, j := range d.Items {
		j.TypeMeta = v1.Kind(v1.KindJob)
		list.Items = append(list.Items, j)
	}
	return &list
}
