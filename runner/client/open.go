package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Link makes a link that signs one page in, once and soon. Its code is in the fragment, which browsers send to nobody.
func (c *Client) Link(ctx context.Context) (string, error) {
	res, err := c.do(ctx, http.MethodPost, "/api/login-codes", nil, nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var made struct {
		Code string `json:"code"`
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err == nil {
		err = json.Unmarshal(text, &made)
	}
	if err != nil {
		return "", fmt.Errorf("read the answer of the server: %w", err)
	}
	return c.base + "/#code=" + made.Code, nil
}
