// Package v1 holds the documents and events that berth prints, and nothing else: what a script that reads `--output
// json` can rely on. Every document carries apiVersion and kind; the schemas in docs/schema only grow. Times are RFC
// 3339 in UTC.
package v1

import (
	"reflect"
	"strings"
)

// APIVersion is the version of every document in this package.
const APIVersion = "berth.dev/v1"

// TypeMeta says which document one is looking at: the kind is the name of its type.
type TypeMeta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// Complete is a copy of a document that is ready to be printed: it, and every document in it, has its TypeMeta, and
// lists that are always there are lists even if nothing is in them.
func Complete[D any](document D) D {
	v := reflect.ValueOf(&document).Elem()
	v.Set(complete(v))
	return document
}

func complete(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return v
		}
		inner := complete(v.Elem())
		if v.Kind() == reflect.Interface {
			return inner
		}
		c := reflect.New(inner.Type())
		c.Elem().Set(inner)
		return c
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() != reflect.Struct {
			return v
		}
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			c.Index(i).Set(complete(v.Index(i)))
		}
		return c
	case reflect.Struct:
		return completeStruct(v)
	}
	return v
}

func completeStruct(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		_, optional, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch f := v.Field(i); {
		case !field.IsExported():
		case field.Type == reflect.TypeFor[TypeMeta]():
			c.Field(i).Set(reflect.ValueOf(TypeMeta{APIVersion: APIVersion, Kind: v.Type().Name()}))
		case f.Kind() == reflect.Slice && f.IsNil() && optional == "":
			c.Field(i).Set(reflect.MakeSlice(f.Type(), 0, 0))
		default:
			c.Field(i).Set(complete(f))
		}
	}
	return c
}
