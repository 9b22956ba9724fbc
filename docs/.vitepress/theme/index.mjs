import theme from 'vitepress/theme-without-fonts'
import FunctionFilter from './FunctionFilter.vue'
import './style.css'

export default { extends: theme, enhanceApp: ({ app }) => app.component('FunctionFilter', FunctionFilter) }
