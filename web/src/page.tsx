import { render } from 'preact';
import './style/base.css';
import './style/shell.css';
import './style/parts.css';
import './style/screens.css';
import { applyTheme, currentTheme } from './lib/prefs';
import { loginReason, redeem, takeCode, token } from './lib/login';
import { Shell } from './ui/shell';

applyTheme(currentTheme());
// The link of "sandboxrun open" signs in: when the page is loaded with it, and when it is opened in a page that is there.
const signIn = async (): Promise<void> => {
  const code = takeCode();
  if (code !== '') await redeem(code).catch(() => loginReason.set('The server cannot be reached.'));
};
addEventListener('hashchange', () => void signIn());
await signIn();
// Another tab that signs in or out does so for all tabs of this address.
addEventListener('storage', (e) => {
  if (e.key !== 'sandboxrun.token') return;
  try { token.set(e.newValue === null ? '' : JSON.parse(e.newValue) as string); } catch { token.set(''); }
});
const root = document.getElementById('page');
if (root) {
  root.replaceChildren();
  render(<Shell />, root);
}
