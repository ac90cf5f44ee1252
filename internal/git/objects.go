package git

import (
	"context"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// objects are those of the packs that a remote has sent.
type objects struct {
	packs []*pack
	left  int64      // bytes that may still be unpacked
	files []*os.File // of packs
}

// close gives back what the packs take on disk.
func (o *objects) close() {
	for _, file := range o.files {
		file.Close()
	}
	o.files, o.packs = nil, nil
}

// add adds the objects of a pack.
func (o *objects) add(ctx context.Context, content storage) error {
	p, err := index(ctx, content, &o.left)
	if err == nil {
		o.packs = append(o.packs, p)
	}
	return err
}

// get is the content of an object: plumbing.ErrObjectNotFound if there is none of that kind and hash, errObjectTooLarge
// if it is larger than limit.
func (o *objects) get(ctx context.Context, kind plumbing.ObjectType, hash plumbing.Hash, limit int64) (content []byte,
	err error,
) {
	missing, err := o.each(ctx, kind, map[plumbing.Hash]struct{}{hash: {}}, limit,
		func(_ plumbing.Hash, found []byte) error {
			content = found
			return nil
		})
	if err == nil && missing > 0 {
		err = plumbing.ErrObjectNotFound
	}
	return content, err
}

// each gives the objects of a kind that are wanted, one after the other, and takes them out of wanted. How many are
// missing is no error. Every pack is gone through once, however many objects of it are wanted.
func (o *objects) each(ctx context.Context, kind plumbing.ObjectType, wanted map[plumbing.Hash]struct{}, limit int64,
	take func(plumbing.Hash, []byte) error,
) (missing int, err error) {
	found := func(hash plumbing.Hash, content []byte) error {
		if int64(len(content)) > limit {
			return largeObjectError{hash}
		}
		delete(wanted, hash)
		return take(hash, content)
	}
	for _, p := range o.packs {
		if err := o.eachWhole(ctx, p, kind, wanted, limit, found); err != nil {
			return len(wanted), err
		}
	}
	for _, p := range o.packs {
		applied := make([]bool, len(p.entries))
		for i := range p.entries {
			if len(wanted) == 0 || p.entries[i].kind != kind {
				continue
			}
			if err := o.search(ctx, p, i, wanted, applied, found); err != nil {
				return len(wanted), err
			}
		}
	}
	return len(wanted), nil
}

// largeObjectError is errObjectTooLarge of a certain one.
type largeObjectError struct{ hash plumbing.Hash }

// Error implements error.
func (largeObjectError) Error() string { return errObjectTooLarge.Error() }

// Is implements what errors.Is asks for.
func (largeObjectError) Is(target error) bool { return target == errObjectTooLarge }

// eachWhole gives those that are no deltas, in the order of the pack.
func (o *objects) eachWhole(ctx context.Context, p *pack, kind plumbing.ObjectType, wanted map[plumbing.Hash]struct{},
	limit int64, found func(plumbing.Hash, []byte) error,
) error {
	var places []int
	for hash := range wanted {
		if i, ok := p.whole[hash]; ok && p.entries[i].kind == kind {
			places = append(places, i)
		}
	}
	slices.Sort(places)
	for _, i := range places {
		if p.entries[i].length > limit {
			return largeObjectError{p.entries[i].hash}
		}
		content, err := o.inflate(ctx, p, i)
		if err == nil {
			err = found(p.entries[i].hash, content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// layer is an object with the deltas that are still to be applied to it.
type layer struct {
	content []byte
	deltas  []int
}

// search applies the deltas of an object, and those of what they make, and gives what is wanted of that, until nothing
// is wanted any more. Only the objects on the way to the newest are held. A delta is applied once: one can lead back to
// what it is applied to.
func (o *objects) search(ctx context.Context, p *pack, i int, wanted map[plumbing.Hash]struct{}, applied []bool,
	found func(plumbing.Hash, []byte) error,
) error {
	kind, deltas := p.entries[i].kind, p.deltasOf(i, p.entries[i].hash)
	if len(deltas) == 0 {
		return nil
	}
	base, err := o.inflate(ctx, p, i)
	if err != nil {
		return err
	}
	held := int64(len(base))
	for way := []layer{{base, deltas}}; len(way) > 0 && len(wanted) > 0; {
		top := &way[len(way)-1]
		if len(top.deltas) == 0 {
			held -= int64(len(top.content))
			way = way[:len(way)-1]
			continue
		}
		next := top.deltas[0]
		if top.deltas = top.deltas[1:]; applied[next] {
			continue
		}
		applied[next] = true
		made, err := o.apply(ctx, p, next, top.content, held)
		if err != nil {
			return err
		}
		hash := plumbing.ComputeHash(kind, made)
		if _, ok := wanted[hash]; ok {
			if err := found(hash, made); err != nil {
				return err
			}
		}
		if deltas := p.deltasOf(next, hash); len(deltas) > 0 {
			held += int64(len(made))
			way = append(way, layer{made, deltas})
		}
	}
	return nil
}

// deltasOf are the deltas of an object, by its place and by its hash.
func (p *pack) deltasOf(i int, hash plumbing.Hash) []int {
	return slices.Concat(p.onEntry[i], p.onObject[hash])
}

// apply is the object that a delta makes, within what may be held and unpacked.
func (o *objects) apply(ctx context.Context, p *pack, i int, base []byte, held int64) ([]byte, error) {
	delta := p.entries[i]
	switch o.left -= delta.result; {
	case o.left < 0:
		return nil, errUnpackedTooLarge
	case held+delta.length+delta.result > maxHeld:
		return nil, errDeltasTooLarge
	}
	steps, err := o.inflate(ctx, p, i)
	if err != nil {
		return nil, err
	}
	return packfile.PatchDelta(base, steps)
}

func (o *objects) inflate(ctx context.Context, p *pack, i int) ([]byte, error) {
	length := p.entries[i].length
	switch o.left -= length; {
	case o.left < 0:
		return nil, errUnpackedTooLarge
	case length > maxHeld:
		return nil, errDeltasTooLarge
	}
	return p.inflate(ctx, i)
}

// decode reads an object of the remote as the type that go-git has for it.
func (o *objects) decode(ctx context.Context, hash plumbing.Hash, into object.Object) error {
	content, err := o.get(ctx, into.Type(), hash, maxMeta)
	if err != nil {
		return err
	}
	return decode(content, into)
}

// decode reads the content of an object as the type that go-git has for it.
func decode(content []byte, into object.Object) error {
	raw := &plumbing.MemoryObject{}
	raw.SetType(into.Type())
	if _, err := raw.Write(content); err != nil {
		return err
	}
	return into.Decode(raw)
}
