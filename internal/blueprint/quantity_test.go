package blueprint

import "testing"

// A quantity that makes no sense is refused, with the one that is meant.
func TestQuantities(t *testing.T) {
	for _, test := range []struct {
		of    measure
		value string
		want  string
	}{
		{cpu(), "0", ""},
		{cpu(), "500m", ""},
		{cpu(), "1.5", ""},
		{cpu(), "1e2", ""},
		{cpu(), "2Gi", `"2Gi" is not a number of cores: did you mean 2?`},
		{cpu(), "500M", `"500M" is not a number of cores: did you mean 500m?`},
		{cpu(), "500Mi", `"500Mi" is not a number of cores: did you mean 500m?`},
		{cpu(), "1024Gi", `"1024Gi" is not a number of cores: did you mean 1024?`},
		{cpu(), "1025Gi", `"1025Gi" is not a number of cores: did you mean 1025m?`},
		{cpu(), "2k", `"2k" is not a number of cores: did you mean 2?`},
		{cpu(), "4000", `"4000" must be at most 1024 cores: did you mean 4000m?`},
		{cpu(), "0.0001", `"0.0001" must be at least 1m: use one such as 500m or 2`},
		{cpu(), "2 cores", `invalid quantity "2 cores": did you mean 2?`},
		{cpu(), "lots", `invalid quantity "lots": use one such as 500m or 2`},
		{cpu(), "-1", `"-1" must not be negative`},

		{memory(), "0", ""},
		{memory(), "512Mi", ""},
		{memory(), "512M", ""},
		{memory(), "1.5Gi", ""},
		{memory(), "536870912", ""},
		{memory(), "4Mi", ""},
		{memory(), "512m", `"512m" is in fractions of a byte: did you mean 512Mi?`},
		{memory(), "2000m", `"2000m" is in fractions of a byte: did you mean 2000Mi?`},
		{memory(), "512u", `"512u" is in fractions of a byte: did you mean 512Mi?`},
		{memory(), "512", `"512" must be at least 4Mi: did you mean 512Mi?`},
		{memory(), "2", `"2" must be at least 4Mi: did you mean 2Gi?`},
		{memory(), "0.5", `"0.5" must be at least 4Mi: did you mean 0.5Gi?`},
		{memory(), "512k", `"512k" must be at least 4Mi: did you mean 512Mi?`},
		{memory(), "1Mi", `"1Mi" must be at least 4Mi: use one such as 512Mi or 2Gi`},
		{memory(), "512MB", `invalid quantity "512MB": did you mean 512Mi?`},
		{memory(), "2gb", `invalid quantity "2gb": did you mean 2Gi?`},
		{memory(), "2 Gi", `invalid quantity "2 Gi": did you mean 2Gi?`},
		{memory(), "2g", `invalid quantity "2g": did you mean 2Gi?`},
		{memory(), "2GiB", `invalid quantity "2GiB": did you mean 2Gi?`},
		{memory(), "512K", `invalid quantity "512K": did you mean 512Mi?`},
		{memory(), "2Ei", `"2Ei" must be at most 1Ei`},
		{memory(), "1,5Gi", `invalid quantity "1,5Gi": use one such as 512Mi or 2Gi`},

		{disk(), "10Gi", ""},
		{disk(), "10", `"10" must be at least 1Mi: did you mean 10Gi?`},
		{disk(), "10m", `"10m" is in fractions of a byte: did you mean 10Mi?`},
		{disk(), "10GB", `invalid quantity "10GB": did you mean 10Gi?`},
	} {
		if got := test.of.problem(test.value); got != test.want {
			t.Errorf("%q: %s, want %s", test.value, got, test.want)
		}
	}
}
