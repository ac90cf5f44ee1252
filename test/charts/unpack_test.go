package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
)

// unpack writes the charts of a text into a directory. Behind the name of a file may stand how it is written: (crlf)
// with the ends of lines that Windows has, (bom) with its mark at the beginning, (open) without the end of the last
// line, -> TARGET as a link. What is below a name that ends in .tgz becomes an archive.
func unpack(text []byte, dir string) error {
	archives := map[string][]txtar.File{}
	for _, file := range txtar.Parse(text).Files {
		name, how, _ := strings.Cut(file.Name, " ")
		switch how {
		case "(crlf)":
			file.Data = bytes.ReplaceAll(file.Data, []byte("\n"), []byte("\r\n"))
		case "(bom)":
			file.Data = append([]byte("\ufeff"), file.Data...)
		case "(open)":
			file.Data = bytes.TrimSuffix(file.Data, []byte("\n"))
		}
		if archive, inside, ok := strings.Cut(name, ".tgz/"); ok {
			archives[archive+".tgz"] = append(archives[archive+".tgz"], txtar.File{Name: inside, Data: file.Data})
			continue
		}
		target, isLink := strings.CutPrefix(how, "-> ")
		if err := place(filepath.Join(dir, name), file.Data, target, isLink); err != nil {
			return err
		}
	}
	for name, files := range archives {
		packed, err := pack(files)
		if err != nil {
			return err
		}
		if err := place(filepath.Join(dir, name), packed, "", false); err != nil {
			return err
		}
	}
	return nil
}

// place writes a file or a link.
func place(name string, data []byte, target string, isLink bool) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if isLink {
		return os.Symlink(target, name)
	}
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there twice", name)
	}
	return os.WriteFile(name, data, 0o600)
}

// pack makes an archive as helm package does.
func pack(files []txtar.File) ([]byte, error) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	for _, file := range files {
		header := &tar.Header{Name: file.Name, Size: int64(len(file.Data)), Mode: 0o644}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(file.Data); err != nil {
			return nil, err
		}
	}
	err := errors.Join(archive.Close(), zip.Close())
	return out.Bytes(), err
}
