package instance

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
)

// remembered asks the cluster for each version of an API once. What the cluster does not
// have is asked for again, as it may have been defined meanwhile.
type remembered struct {
	discovery.ServerResourcesInterface

	mu    sync.Mutex
	lists map[string]*metav1.APIResourceList
}

// ServerResourcesForGroupVersion implements discovery.ServerResourcesInterface.
func (r *remembered) ServerResourcesForGroupVersion(version string) (*metav1.APIResourceList, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if list := r.lists[version]; list != nil {
		return list, nil
	}
	list, err := r.ServerResourcesInterface.ServerResourcesForGroupVersion(version)
	if err == nil {
		if r.lists == nil {
			r.lists = map[string]*metav1.APIResourceList{}
		}
		r.lists[version] = list
	}
	return list, err
}
