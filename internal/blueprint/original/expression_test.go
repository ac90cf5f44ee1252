package original

import "testing"

func TestConvertExpression(t *testing.T) {
	for text, want := range map[string]struct {
		converted string
		notes     int
	}{
		`blueprint`:                              {`metadata.name`, 0},
		`blueprint + "-" + user.username`:        {`metadata.name + "-" + user.username`, 0},
		`blueprint.startsWith("a")`:              {`metadata.name.startsWith("a")`, 0},
		`blueprint == "blueprint"`:               {`metadata.name == "blueprint"`, 0},
		`blueprint.image`:                        {`blueprint.image`, 0},
		`blueprint["image"]`:                     {`blueprint["image"]`, 0},
		`metadata.blueprint`:                     {`metadata.blueprint`, 0},
		`metadata.repoName == 'noreponame'`:      {`metadata.repoName == ''`, 1},
		`metadata.repoOwner != "norepoowner"`:    {`metadata.repoOwner != ""`, 1},
		`user.username == "noreponame"`:          {`user.username == "noreponame"`, 0},
		`env("X") + normalizeDNS(workspaceName)`: {`env("X") + normalizeDNS(workspaceName)`, 1},
		`"it's \" blueprint"`:                    {`"it's \" blueprint"`, 0},
		`r'\' + blueprint`:                       {`r'\' + metadata.name`, 0},
		`"unclosed blueprint`:                    {`"unclosed metadata.name`, 0},
	} {
		converted, notes := convertExpression(text)
		if converted != want.converted || len(notes) != want.notes {
			t.Errorf("%s becomes %s (%q), want %s", text, converted, notes, want.converted)
		}
	}
}
