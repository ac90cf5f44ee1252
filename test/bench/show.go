package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/berthdev/berth/test/bench/internal/report"
)

// show prints what was measured.
func show(o options, sections []report.Section) error {
	for _, s := range sections {
		fmt.Println(report.Table(s))
	}
	if o.timeline {
		for _, s := range sections[:len(sections)-1] {
			fmt.Println(report.Timeline(s, report.Berth))
		}
	}
	aims := report.Aims(sections)
	if o.json != "" {
		text, err := json.MarshalIndent(map[string]any{"sections": sections, "aims": aims}, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.json, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	missed := 0
	for _, a := range aims {
		if !a.Met {
			missed++
		}
	}
	fmt.Printf("%d of %d aims met\n", len(aims)-missed, len(aims))
	if o.strict && missed > 0 {
		return fmt.Errorf("%d aims missed", missed)
	}
	return nil
}
