package printer

import (
	"fmt"
	"io"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// writeNames writes what the documents are addressed by, one a line.
func writeNames(w io.Writer, doc any) error {
	switch d := doc.(type) {
	case *v1.Workspace:
		fmt.Fprintln(w, d.ID)
	case *v1.Deletion:
		fmt.Fprintln(w, d.ID)
	case *v1.Diagnosis:
		fmt.Fprintln(w, d.Subject)
	case *v1.WorkspaceList:
		for _, item := range d.Items {
			fmt.Fprintln(w, item.ID)
		}
	case *v1.Job:
		fmt.Fprintln(w, d.ID)
	case *v1.JobList:
		for _, item := range d.Items {
			fmt.Fprintln(w, item.ID)
		}
	case *v1.ProvisionSummary:
		for _, item := range d.Items {
			if item.Workspace != nil {
				fmt.Fprintln(w, item.ID)
			}
		}
	case *v1.DeletionSummary:
		for _, item := range d.Items {
			if item.Deletion != nil {
				fmt.Fprintln(w, item.ID)
			}
		}
	default:
		return fault.New(fault.InvalidArgument, "output format name: this document has no name")
	}
	return nil
}
