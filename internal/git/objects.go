package git

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// objects are those of the packs that a remote has sent.
type objects struct {
	packs []*pack
	left  int64 // bytes that may still be unpacked
}

// add adds the objects of a pack.
func (o *objects) add(ctx context.Context, content []byte) error {
	p, err := index(ctx, content, &o.left)
	if err == nil {
		o.packs = append(o.packs, p)
	}
	return err
}

// get is the content of an object: plumbing.ErrObjectNotFound if there is none of
// that kind and hash, errObjectTooLarge if it is larger than limit.
func (o *objects) get(ctx context.Context, kind plumbing.ObjectType, hash plumbing.Hash, limit int64) ([]byte, error) {
	for _, p := range o.packs {
		i, ok := p.whole[hash]
		switch {
		case !ok:
		case p.entries[i].kind != kind:
			return nil, plumbing.ErrObjectNotFound
		case p.entries[i].length > limit:
			return nil, errObjectTooLarge
		default:
			return o.inflate(ctx, p, i)
		}
	}
	for _, p := range o.packs {
		content, found, err := o.make(ctx, p, kind, hash)
		switch {
		case err != nil:
			return nil, err
		case found && int64(len(content)) > limit:
			return nil, errObjectTooLarge
		case found:
			return content, nil
		}
	}
	return nil, plumbing.ErrObjectNotFound
}

// make looks for an object among those that the deltas of a pack make.
func (o *objects) make(ctx context.Context, p *pack, kind plumbing.ObjectType, hash plumbing.Hash) (content []byte, found bool, err error) {
	applied := make([]bool, len(p.entries))
	for i := range p.entries {
		if p.entries[i].kind == kind && !found && err == nil {
			content, found, err = o.search(ctx, p, i, hash, applied)
		}
	}
	return content, found, err
}

// layer is an object with the deltas that are still to be applied to it.
type layer struct {
	content []byte
	deltas  []int
}

// search applies the deltas of an object, and those of what they make, until it
// has made the object that is looked for. Only the objects on the way to the newest
// are held. A delta is applied once: one can lead back to what it is applied to.
func (o *objects) search(ctx context.Context, p *pack, i int, wanted plumbing.Hash, applied []bool) (content []byte, found bool, err error) {
	kind, deltas := p.entries[i].kind, p.deltasOf(i, p.entries[i].hash)
	if len(deltas) == 0 {
		return nil, false, nil
	}
	base, err := o.inflate(ctx, p, i)
	if err != nil {
		return nil, false, err
	}
	held := int64(len(base))
	for way := []layer{{base, deltas}}; len(way) > 0; {
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
			return nil, false, err
		}
		hash := plumbing.ComputeHash(kind, made)
		if hash == wanted {
			return made, true, nil
		}
		if deltas := p.deltasOf(next, hash); len(deltas) > 0 {
			held += int64(len(made))
			way = append(way, layer{made, deltas})
		}
	}
	return nil, false, nil
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
	raw := &plumbing.MemoryObject{}
	raw.SetType(into.Type())
	if _, err := raw.Write(content); err != nil {
		return err
	}
	return into.Decode(raw)
}
