{{ define "common.x" }}x{{ end }}
