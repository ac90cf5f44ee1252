package dump

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berthdev/berth/internal/watch/evidence"
)

// Newest is the newest time in the objects of a dump: it was made then, or later. It is
// zero if there is none. All of them count: what has nothing to do with a subject tells
// for how long that has been silent.
func (c Contents) Newest() time.Time {
	var newest time.Time
	for _, r := range c.Records {
		o, err := meta.Accessor(r.Object)
		if err != nil {
			continue
		}
		newest = evidence.Later(newest, newestIn(reflect.ValueOf(r.Object)))
		if gone := o.GetDeletionTimestamp(); gone != nil {
			grace := time.Duration(ptr.Deref(o.GetDeletionGracePeriodSeconds(), 0)) * time.Second
			newest = evidence.Later(newest, gone.Add(-grace))
		}
	}
	return newest
}

// newestIn looks at every time in a value, but when an object is to be gone: that may lie
// ahead.
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
