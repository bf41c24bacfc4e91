package lister

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
)

// forgeRepository has the fields of a repository that the APIs of GitHub, GitLab and Gitea
// return. Each forge has some of them.
type forgeRepository struct {
	CloneURL string `json:"clone_url"`        // GitHub, Gitea
	HTTPURL  string `json:"http_url_to_repo"` // GitLab

	Created  time.Time `json:"created_at"`
	Pushed   time.Time `json:"pushed_at"`        // GitHub
	Activity time.Time `json:"last_activity_at"` // GitLab
	Updated  time.Time `json:"updated_at"`       // Gitea; of GitHub's description too, so the last choice

	Fork       bool             `json:"fork"`
	Parent     *forgeRepository `json:"parent"`              // Gitea
	ForkedFrom *forgeRepository `json:"forked_from_project"` // GitLab

	Archived bool   `json:"archived"`
	FullName string `json:"full_name"`           // GitHub, Gitea
	Path     string `json:"path_with_namespace"` // GitLab
	Language string `json:"language"`
}

// parseRepositories lists the repositories of one answer of a forge's API: a list, or Gitea's search result, an
// object with the list in data. It skips and counts elements that are not repositories. It fails if half of them
// or more are something else, because the URL is then probably not a list of repositories.
func parseRepositories(content []byte) (list []models.ListedOrigin, skipped int, err error) {
	var elements []json.RawMessage
	if err := json.Unmarshal(content, &elements); err != nil {
		var result struct {
			Data *[]json.RawMessage `json:"data"`
		}
		if json.Unmarshal(content, &result) != nil || result.Data == nil {
			return nil, 0, fmt.Errorf("the answer is not a JSON list of repositories, but %s: want a URL of the API of GitHub, GitLab or Gitea: %w", formOf(content), fault.ErrInvalid)
		}
		elements = *result.Data
	}
	for _, e := range elements {
		var r forgeRepository
		if json.Unmarshal(e, &r) != nil || !isCloneURL(r.url()) {
			skipped++
			continue
		}
		list = append(list, r.listed())
	}
	if skipped > 0 && skipped >= len(list) {
		return nil, 0, fmt.Errorf("%d of %d elements of the answer are not repositories with a clone_url or http_url_to_repo: %w", skipped, len(elements), fault.ErrInvalid)
	}
	return list, skipped, nil
}

// formOf names what content looks like, for an error, without quoting it, because it may be long
// or secret.
func formOf(content []byte) string {
	switch content = bytes.TrimSpace(content); {
	case len(content) == 0:
		return "empty"
	case content[0] == '<':
		return "a page of HTML or XML"
	case content[0] == '{' && json.Valid(content):
		return "a JSON object"
	case json.Valid(content):
		return "another JSON value"
	}
	return "something else"
}

// isCloneURL reports whether a forge may name a URL. One with a user or password would
// bring credentials into the catalog that its user did not give.
func isCloneURL(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && models.IsWebURL(uri) && u.User == nil
}

// url returns the address to clone, by either name that forges give it.
func (r forgeRepository) url() string {
	if r.CloneURL != "" {
		return r.CloneURL
	}
	return r.HTTPURL
}

// listed returns the origin that a repository is. Its date of update is the first that the forge
// gives of: pushed, last activity, updated. A repository with a parent is a fork; the parent's
// URL is kept only if it can be cloned.
func (r forgeRepository) listed() models.ListedOrigin {
	n := models.ListedOrigin{Kind: models.Git, URI: r.url(), Created: r.Created.UTC(), Fork: r.Fork, Metadata: map[string]string{}}
	for _, at := range []time.Time{r.Pushed, r.Activity, r.Updated} {
		if n.Updated.IsZero() && !at.IsZero() {
			n.Updated = at.UTC()
		}
	}
	for _, parent := range []*forgeRepository{r.Parent, r.ForkedFrom} {
		if parent != nil {
			n.Fork = true
			if isCloneURL(parent.url()) {
				n.ForkOf = parent.url()
			}
		}
	}
	for key, value := range map[string]string{"name": r.FullName + r.Path, "language": r.Language} {
		if value != "" {
			n.Metadata[key] = value
		}
	}
	if r.Archived {
		n.Metadata["archived"] = "true"
	}
	return n
}
