import Theme from 'vitepress/theme';
import ApiBrowser from './ApiBrowser.vue';
import './style.css';

export default {
  extends: Theme,
  enhanceApp({ app }) {
    app.component('ApiBrowser', ApiBrowser);
  },
};
