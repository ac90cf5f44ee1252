package v1

// Explanation says what a cause is, whatever it is found in.
type Explanation struct {
	TypeMeta
	// Code is the cause, as a Diagnosis names it.
	Code string `json:"code"`
	// Family is the group of causes that it belongs to, such as image or volume.
	Family string `json:"family"`
	// Title says in a few words what it is.
	Title string `json:"title"`
	// Reasons are Kubernetes' own words for it. Each may be the word for other causes, too.
	Reasons []string `json:"reasons"`
	// Meaning explains it to a reader who does not know Kubernetes well.
	Meaning string `json:"meaning"`
	// Signs are what it is recognized by: where to look, and what stands there.
	Signs []string `json:"signs"`
	// Remedies are what to do, the likeliest first.
	Remedies []string `json:"remedies"`
	// Passes says by what it passes without anybody doing anything; absent if it does
	// not.
	Passes string `json:"passes,omitempty"`
	// NeedsPerson is true for what stays until a person changes it, however long it
	// is waited for.
	NeedsPerson bool `json:"needsPerson"`
	// Policies are how each policy treats it, the default one first.
	Policies []PolicyTreatment `json:"policies"`
	// Example is what a diagnosis of it says. It is not in lists.
	Example *Diagnosis `json:"example,omitempty"`
}

// PolicyTreatment is how a policy treats a cause.
type PolicyTreatment struct {
	// Policy is its name: fast or patient.
	Policy string `json:"policy"`
	// Treatments are fails (at once), spared (it fails if the cause has not passed within the
	// grace period) or waits; several if it depends on the case.
	Treatments []Treatment `json:"treatments"`
}

// Treatment is what becomes of a workspace that has a cause.
type Treatment string

// What can become of it.
const (
	TreatmentFails  Treatment = "fails"  // as soon as the cause is seen
	TreatmentSpared Treatment = "spared" // it fails after the grace period
	TreatmentWaits  Treatment = "waits"  // it does not fail because of it
)

// ExplanationList is a list of causes.
type ExplanationList struct {
	TypeMeta
	Items []Explanation `json:"items"`
}
