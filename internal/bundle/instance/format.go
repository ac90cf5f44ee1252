package instance

import (
	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/fault"
)

// formatOf is what the content of a request is read as, by which it gets its class if it has none. Where that does not
// follow from the content and the class, the instance says it.
func formatOf(q *Request) (found format.Format, err error) {
	switch {
	case q.Format == "" && q.Class == "":
		found, err = format.Recognize(q.Content.FS())
	case q.Format == "":
		found, err = contentOf(q.Content, q.Class, q.Config)
	default:
		found = q.Format
	}
	if err != nil {
		return "", err
	}
	if q.Class == "" {
		q.Class = resource.ClassOf(found)
	}
	if q.Format != "" && q.Format != q.Format.Base() {
		q.Config.Format = string(q.Format)
	}
	return found, nil
}

// contentOf is what content is read as by an instance that has a bundle of a class.
func contentOf(c *content.Content, class string, conf v1alpha1.Config) (format.Format, error) {
	wanted := resource.FormatOf(class)
	switch asked := format.Format(conf.Format); {
	case wanted != format.Plain:
		return wanted, nil
	case asked == "":
		found, err := format.RecognizeAs(c.FS(), wanted)
		if found.Base() != wanted {
			found = wanted // which says what is missing
		}
		return found, err
	case asked.Base() != wanted:
		return "", fault.New(fault.InvalidArgument, "spec.config.format %q is not one of class %s", asked, class).
			WithHint("leave it out, or use %s or %s", format.YAML, format.Kustomize)
	default:
		return asked, nil
	}
}
