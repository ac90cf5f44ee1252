package watch

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Decode reads an object as the API server writes it; not known for a kind that is not
// built in. The items of a list of one kind need not name it: they have the default one.
// Events are of the core API, whichever they were read with.
func Decode(raw []byte, defaults *schema.GroupVersionKind) (obj runtime.Object, known bool, err error) {
	obj, _, err = scheme.Codecs.UniversalDeserializer().Decode(raw, defaults, nil)
	if runtime.IsNotRegisteredError(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if e, ok := obj.(*eventsv1.Event); ok {
		obj = coreEvent(e)
	}
	return obj, true, nil
}

// coreEvent is an event as the API server shows it to those who read it with the core
// API.
func coreEvent(e *eventsv1.Event) *corev1.Event {
	core := &corev1.Event{
		ObjectMeta: e.ObjectMeta, InvolvedObject: e.Regarding, Related: e.Related,
		Reason: e.Reason, Message: e.Note, Type: e.Type, Action: e.Action,
		Source: e.DeprecatedSource, ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
		EventTime: e.EventTime, Count: e.DeprecatedCount,
		FirstTimestamp: e.DeprecatedFirstTimestamp, LastTimestamp: e.DeprecatedLastTimestamp,
	}
	if e.Series != nil {
		core.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return core
}
