package original

import "testing"

func TestConvertExpression(t *testing.T) {
	for text, want := range map[string]struct {
		converted string
		notes     int
	}{
		`blueprint`:                                 {`metadata.name`, 0},
		`blueprint + "-" + user.username`:           {`metadata.name + "-" + user.username`, 0},
		`blueprint.startsWith("a")`:                 {`metadata.name.startsWith("a")`, 0},
		`blueprint == "blueprint"`:                  {`metadata.name == "blueprint"`, 0},
		`blueprint.image`:                           {`blueprint.image`, 0},
		`blueprint["image"]`:                        {`blueprint["image"]`, 0},
		`metadata.blueprint`:                        {`metadata.blueprint`, 0},
		`metadata.repoName == 'noreponame'`:         {`metadata.repoName == ''`, 1},
		`metadata.repoOwner != "norepoowner"`:       {`metadata.repoOwner != ""`, 1},
		`user.username == "noreponame"`:             {`user.username == "noreponame"`, 0},
		`env("X") + normalizeDNS(workspaceName)`:    {`env("X") + normalizeDNS(workspaceName)`, 1},
		`"it's \" blueprint"`:                       {`"it's \" blueprint"`, 0},
		`r'\' + blueprint`:                          {`r'\' + metadata.name`, 0},
		`"unclosed blueprint`:                       {`"unclosed blueprint`, 0},
		`["x"].exists(blueprint, blueprint == "x")`: {`["x"].exists(blueprint, blueprint == "x")`, 0},
		`["x"].exists(x, x == blueprint)`:           {`["x"].exists(x, x == metadata.name)`, 0},
		`["x"].all(b, b == blueprint) && [blueprint].exists(blueprint, blueprint == "b")`: {
			`["x"].all(b, b == metadata.name) && [metadata.name].exists(blueprint, blueprint == "b")`, 0,
		},
		`has(blueprint.image) && "image" in blueprint`: {`has(blueprint.image) && "image" in blueprint`, 0},
		`blueprint.exists(field, field == "image")`:    {`blueprint.exists(field, field == "image")`, 0},
		"\"ä\" +\n  blueprint":                         {"\"ä\" +\n  metadata.name", 0},
		`size(blueprint) > 1`:                          {`size(metadata.name) > 1`, 0},
		`blueprint == {"a": user.uid}`:                 {`blueprint == {"a": user.uid}`, 1},
	} {
		converted, notes := convertExpression(text)
		if converted != want.converted || len(notes) != want.notes {
			t.Errorf("%s becomes %s (%q), want %s", text, converted, notes, want.converted)
		}
	}
}
