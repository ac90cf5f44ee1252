//go:build e2e

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
)

// unpackRecord reads Helm's record as a Secret has it.
func unpackRecord(w *world, packed []byte) (record map[string]any) {
	w.Helper()
	zipped, err := base64.StdEncoding.DecodeString(string(packed))
	if err != nil {
		w.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		w.Fatal(err)
	}
	if err := json.NewDecoder(r).Decode(&record); err != nil {
		w.Fatal(err)
	}
	return record
}

// packRecord is the reverse.
func packRecord(w *world, record map[string]any) []byte {
	w.Helper()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if err := json.NewEncoder(z).Encode(record); err != nil {
		w.Fatal(err)
	}
	if err := z.Close(); err != nil {
		w.Fatal(err)
	}
	return []byte(base64.StdEncoding.EncodeToString(zipped.Bytes()))
}
