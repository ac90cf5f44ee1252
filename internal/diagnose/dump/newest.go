package dump

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/watch/evidence"
)

// Newest is the newest time in the objects of a dump: it was made then, or later. It is
// zero if there is none.
func (c Contents) Newest() time.Time {
	var newest time.Time
	for _, r := range c.Records {
		if r.Object != nil {
			newest = evidence.Later(newest, newestIn(reflect.ValueOf(r.Object)))
		}
	}
	return newest
}

// newestIn looks at every time in a value. A deletionTimestamp is left out, as it is
// when an object is to be gone; and what is not of the API has no times.
func newestIn(v reflect.Value) (newest time.Time) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return newestIn(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return newest
		}
		for i := range v.Len() {
			newest = evidence.Later(newest, newestIn(v.Index(i)))
		}
	case reflect.Struct:
		switch t := v.Interface().(type) {
		case metav1.Time:
			return t.Time
		case metav1.MicroTime:
			return t.Time
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Name != "DeletionTimestamp" {
				newest = evidence.Later(newest, newestIn(v.Field(i)))
			}
		}
	}
	return newest
}
